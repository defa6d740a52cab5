-- The digest of the shared link with which a person joined: the invitation is valid as long as the link.
ALTER TABLE invitations ADD COLUMN via text COLLATE "C";
