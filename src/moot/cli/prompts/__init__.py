"""What people at this terminal are asked: for a speech, a point, a ballot."""
