"""How `make docs` turns these pages and the docstrings of the engine into a site."""

from sphinx.application import Sphinx

from dpcore.version import __version__

project = "Frostglass"
author = "the Frostglass contributors"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
smartquotes = False  # a prime in a formula is no quotation mark

autodoc_default_options = {"exclude-members": "model_config"}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # a compact list, as of parameters
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"Frostglass {release}"
html_copy_source = False
html_show_copyright = False


def _left_out(_app: Sphinx, _what: str, _name: str, thing: object, *_more: object) -> bool | None:
    """What scikit-learn gives to every estimator is described there."""
    return (getattr(thing, "__module__", None) or "").startswith("sklearn.") or None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", _left_out)
