"""Graphs as ONNX has them: the lowering of each op to ONNX's operators, loops and conditionals as subgraphs."""
