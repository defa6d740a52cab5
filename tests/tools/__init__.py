"""Tools: a real server that runs as a process, and Moot as one."""
