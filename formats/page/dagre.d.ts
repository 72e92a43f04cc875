/** What the page uses of the layout library. */
declare namespace dagre {
  type Point = { x: number; y: number };
  class Graph {
    constructor(options?: { multigraph?: boolean });
    setGraph(options: object): void;
    graph(): { width: number; height: number };
    setNode(name: string, size: { width: number; height: number }): void;
    node(name: string): Point & { width: number; height: number };
    setEdge(source: string, target: string, options: object): void;
    edge(source: string, target: string): { points: Point[]; x?: number; y?: number };
  }
  function layout(graph: Graph): void;
}
