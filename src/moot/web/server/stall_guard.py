"""What HTTP and WebSocket connections share: a limit on stalled clients, and two ways to close.

uvicorn waits without limit for a client that reads nothing; here the connection is cut, and a viewer connects
again.
"""

from __future__ import annotations

import asyncio
import socket
import struct

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER with 0 seconds: closing resets the connection and drops what the system has buffered."""
CLOSE_SECONDS = 1.0


class StallGuard(asyncio.Protocol):
    """For a protocol whose transport reports when too much is unread."""

    stalled_seconds: float
    """How long a client may read nothing; set by the subclass that `listener.py` makes from the settings."""
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _stall_timer: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Close at once and drop what has not been sent."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None and self.transport.get_write_buffer_size():
            # Otherwise the system would keep offering it for minutes.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_stall_timer()

    def resume_writing(self) -> None:
        self._stop_stall_timer()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_stall_timer()
        super().connection_lost(exc)

    def _start_stall_timer(self) -> None:
        """Abort if nothing was read since the last look; a slow reader is not stalled."""
        self._stop_stall_timer()
        unread = self.transport.get_write_buffer_size()
        self._stall_timer = self.loop.call_later(self.stalled_seconds, self._check_progress, unread)

    def _check_progress(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._start_stall_timer()
        else:
            self.abort()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None


def close_gently(loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> asyncio.TimerHandle | None:
    """Send no more, and close after a moment in which the client can read what was sent."""
    if transport.is_closing():
        return None
    transport.write_eof()
    return loop.call_later(CLOSE_SECONDS, transport.close)
