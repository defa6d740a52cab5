-- By what a session is found again: the id of a response, the digest of what was said last, the id that it
-- had elsewhere.
CREATE TABLE marks (
    mark TEXT NOT NULL,
    debate INTEGER NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (mark, debate)
) WITHOUT ROWID;

CREATE INDEX marks_by_debate ON marks (debate);
