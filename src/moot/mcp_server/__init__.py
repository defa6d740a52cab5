"""Moot as a tool: a server of the Model Context Protocol, through which other programs hold debates."""
