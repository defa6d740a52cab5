"""The API without HTTP: request bodies, replies, frames of streams, commands, errors, rights and limits."""
