"""What the processes of one arena know together for a while: `memory` for one, `redis` for many."""
