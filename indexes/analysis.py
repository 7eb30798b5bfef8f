"""Texts to the terms that the lexical index compares: lower case, no accents, no function words, stems.

Words are stemmed by the rules of the text's language (Snowball, in tantivy). A language without rules
here is only lower-cased and freed of accents, which is enough to search by its words as they stand.
"""

from functools import cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

_STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
_STOP_WORDS = frozenset({"da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ru", "sv"})

# tantivy's English list lacks the words that questions are made of; its other lists have them.
_QUESTION_WORDS = [
    "about", "also", "any", "anything", "because", "been", "being", "can", "could", "did", "didn", "does", "doesn",
    "don", "done", "from", "get", "give", "going", "got", "had", "has", "have", "having", "her", "here", "hers",
    "him", "his", "how", "isn", "just", "know", "let", "like", "many", "may", "might", "mine", "much", "must",
    "need", "now", "one", "our", "ours", "please", "she", "should", "some", "someone", "something", "still", "tell",
    "than", "them", "there", "they", "those", "too", "very", "want", "was", "were", "what", "when", "where",
    "whether", "which", "while", "who", "whom", "whose", "why", "won", "would", "you", "your", "yours", "am", "do",
    "he", "i", "if", "me", "my", "so", "us", "we", "s", "t", "m", "re", "ve", "ll", "d",
]  # fmt: skip


_MAX_TERM_BYTES = 60
#: What a question may bring to a search: beyond it, it is no question.
MAX_CHARACTERS = 10_000
MAX_TERMS = 64


@cache
def analyzer(language: str) -> TextAnalyzer:
    """The analyzer of a language code (``en``, ``pt-BR``): for indexing and for questions alike."""
    code = base_language(language)
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    builder = builder.filter(Filter.remove_long(_MAX_TERM_BYTES)).filter(Filter.lowercase())
    if code in _STOP_WORDS:
        builder = builder.filter(Filter.stopword(_STEMMERS[code]))
    if code == "en":
        builder = builder.filter(Filter.custom_stopword(_QUESTION_WORDS))
    if code in _STEMMERS:
        builder = builder.filter(Filter.stemmer(_STEMMERS[code]))
    return builder.filter(Filter.ascii_fold()).build()


def base_language(language: str) -> str:
    """``pt`` for ``pt-BR``: the part that decides about words."""
    return language.replace("_", "-").split("-")[0].lower()


def question_terms(question: str, language: str) -> tuple[str, ...]:
    """The question's distinct informative terms, in its order. Any text is taken, odd characters too."""
    text = question[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return tuple(dict.fromkeys(analyzer(language).analyze(text)))[:MAX_TERMS]
