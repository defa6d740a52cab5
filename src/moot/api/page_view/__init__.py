"""The dialect of the page: a debate as one view, told as changes to it.

`view(debate, viewer)` is all that the page shows, in sections (`sections.py`, and `speeches.py` for what is
said); what may be done right now is among it (`deeds.py`), and money is text. A frame holds what an event
changed in the view (`patches.py`), and the page only applies it: `static/lib/apply_frame.js` is twenty lines,
because no rule lives there.
"""
