"""The page's dialect: a debate as one view, followed by changes to it.

`view(debate, viewer)` holds all that the page shows, in sections (`sections.py`; `speeches.py` for the
speeches), with the actions that are possible now (`actions.py`) and money as text. A frame holds what an
event changed in the view (`view_frames.py`). The page only applies frames (`static/lib/apply_frame.js`): it
contains no rule of debating.
"""
