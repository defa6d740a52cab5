-- With which link for many somebody joined, by its digest: they count no longer than that link.
ALTER TABLE invitations ADD COLUMN via TEXT;
