"""How is a container killed that stands still?"""

import contextlib
import os
from typing import Any

from docker.errors import APIError

from fault_injection.cluster.leftovers import is_node


def kill_paused(container: Any) -> None:  # noqa: ANN401 - untyped library
    """Kill a frozen container; a daemon that refuses to is made to thaw it dying, if it is on this machine."""
    try:
        container.kill()
    except APIError:
        pid = int(container.attrs["State"]["Pid"])
        if is_node(pid):
            os.kill(pid, 9)
        container.unpause()
        with contextlib.suppress(APIError):
            container.kill()
