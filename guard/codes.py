"""The one list of codes that are not lint rules: code, name, and what it means in a line.

Lint codes (GRD1xx) come from their YAML files, and so do the names of pins, which share the code GRD501.
"""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "GRD201": ("reverted-fix", "a change of one side went back to the base's text"),
    "GRD202": ("lost-change", "a change of one side is in merged in no form, and nobody took it out on purpose"),
    "GRD203": ("partly-lost-change", "only a part of one commit's edits survived"),
    "GRD204": ("dead-change", "the text of a change is there, but a newer argument or override makes it inert"),
    "GRD205": ("revived-code", "code that one side deleted since the base is back"),
    "GRD206": ("lost-file", "a file that one side added or kept is gone, or a deleted one is back"),
    "GRD207": ("lost-test", "the test that guarded a change was lost with it, or deleted later on the branch"),
    "GRD208": ("lost-text", "a hunk of a file that is not Python was lost or revived"),
    "GRD209": ("one-side-taken", "a file equals one parent although git's automatic merge differs"),
    "GRD301": ("undefined-name", "a name is read that nothing defines in merged"),
    "GRD302": ("missing-module-member", "an import or attribute names a module or member that merged does not have"),
    "GRD303": ("missing-attribute", "an attribute is read that nothing defines in merged"),
    "GRD304": ("call-arguments", "a call passes missing, unknown or too many arguments"),
    "GRD305": ("duplicate-definition", "merged defines twice what each side defines once"),
    "GRD306": ("changed-default", "a default changed under a caller that came from the other side"),
    "GRD307": ("unread-definition", "a field, option or function is left whose readers were all lost"),
    "GRD308": ("conflict-markers", "conflict markers are left in the file"),
    "GRD309": ("both-have-it", "both parents have it, and merged has none or two"),
    "GRD310": ("swapped-arguments", "arguments meet a callee whose positional order changed"),
    "GRD311": ("dropped-argument", "an optional argument that the old caller passed is no longer passed"),
    "GRD312": ("undefined-option", "an option is read that no parser or config class defines in merged"),
    "GRD313": ("autograd-arity", "an autograd function's backward does not return one gradient for each input"),
    "GRD314": ("syntax-error", "merged does not parse where both parents do"),
    "GRD401": ("protected-file", "a protected path differs from ours"),
    "GRD402": ("coupled-files", "files that must change together did not"),
    "GRD403": ("expired-policy", "a policy entry has expired or lacks its reason"),
    "GRD404": ("side-not-taken", "a file on a side list differs from the side that it is to be taken from"),
    "GRD405": ("open-conflict", "a conflict hunk that the merge leaves to a person, with what each side brings"),
    "GRD501": ("broken-pin", "a fix that was pinned is no longer in effect; the finding carries the pin's own name"),
    "GRD502": ("carried-over-loss", "a fix that an earlier sync lost is still missing"),
    "GRD503": ("landed-differs", "the landed tree differs from the tree that was checked"),
    "GRD600": ("gradient-differs", "a quantity depends on how the batch is cut"),
    "GRD601": ("router-loss-differs", "a router loss (auxiliary, z) depends on how the batch is cut"),
    "GRD602": ("mtp-loss-differs", "the multi-token prediction loss depends on the cut or is off a dense reference"),
    "GRD603": ("lm-loss-differs", "the language-model loss depends on how the batch is cut"),
    "GRD604": ("cross-entropy-differs", "the vocabulary-parallel cross-entropy differs from the dense one"),
    "GRD605": ("grad-norm-differs", "the gradient norm depends on how parameters are sharded"),
    "GRD606": ("expert-gradient-differs", "gradients of experts depend on how they are distributed"),
    "GRD607": ("replicated-gradient-differs", "the gradient of a replicated parameter depends on tensor parallelism"),
    "GRD608": ("wrong-process-group", "a tensor is scattered or reduced over another group than the one given"),
    "GRD609": ("model-gradient-differs", "a gradient of the whole small model depends on how the batch is cut"),
    "GRD610": (
        "optimizer-step-differs",
        "an optimizer step depends on how it is sharded or overlapped",
    ),
    "GRD611": ("routing-differs", "a router's choice or count differs from the closed form or depends on the cut"),
    "GRD612": ("random-state-differs", "random states are shared or split over other ranks than they must be"),
    "GRD901": ("unused-suppression", "a suppression comment that suppresses nothing"),
    "GRD902": ("suppression-without-reason", "a suppression comment that does not say why"),
    "GRD903": ("stale-baseline", "an accepted finding that no longer occurs"),
    "GRD904": ("unreadable-program", "a file or a cell of a notebook is no Python, so that no rule can look at it"),
    "GRD905": ("malformed-suppression", "a comment that is meant as a suppression and is none"),
}


def name_of(code: str) -> str:
    """The readable name of a code of this list."""
    return CODES[code][0]
