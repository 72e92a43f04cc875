"""OpenVINO as an engine. The only modules that import OpenVINO."""
