"""Replies of the API, each defined once: built by the server, decoded by the client, described in OpenAPI.

A class has the name of its schema; `moot.client` exports it under a shorter name. Descriptions of members are
`Meta`, from which the OpenAPI document takes them.
"""
