"""FLOPs of a graph: counted from shapes, or measured during a run."""

from __future__ import annotations

from .count import CountCache, count_flops
from .flops_report import FlopsReport, NodeCost, Section

__all__ = ["CountCache", "FlopsReport", "NodeCost", "Section", "count_flops"]
