"""The dialect of `/api/v1`."""
