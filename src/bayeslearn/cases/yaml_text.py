"""YAML that holds data only: no objects, and no aliases, by which a small text could become a large one."""

from __future__ import annotations

from typing import Any

from yaml import AliasEvent, SafeLoader, YAMLError  # type: ignore[import-untyped]
from yaml.composer import ComposerError  # type: ignore[import-untyped]

__all__ = ["Loader", "YAMLError"]


class Loader(SafeLoader):  # type: ignore[misc]
    """PyYAML's safe loader without aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """A node, unless it stands for another."""
        if self.check_event(AliasEvent):
            event = self.peek_event()
            raise ComposerError(None, None, "aliases are not read", event.start_mark)
        return super().compose_node(parent, index)
