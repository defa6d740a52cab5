"""What services do wrong, each fault scripted on a real socket, and what a debate makes of it."""
