"""The manual: the Markdown pages of the repository and a reference made from the code, as HTML with search.

`pages` says which pages there are and where they come from; `markdown` renders one; `reference` writes those
about the code; `search` finds words; `layout` puts a page between its navigation; `site` answers for all of
it. A server loads nothing of it before the first reader.
"""
