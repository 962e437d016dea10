"""Compares the forms in the SYNOPSIS of man pages, and the option lists, with the help of the commands.

usage: synopsis.py PAGE...     bustap.1 first: it has a form for each command"""
import re
import subprocess
import sys


class Help:
    """What `COMMAND -h` says: the long name of each option, short or long, and those that the usage line requires."""

    def __init__(self, words):
        self.text = subprocess.run([*words, "-h"], capture_output=True, text=True).stdout
        self.usage = self.text.split("\n", 1)[0]
        self.options, self.letters = {}, {}
        for letter, name in re.findall(r"^  (?:-(.), |    )--([a-z0-9-]+)", self.text, re.M):
            self.options[name] = name
            if letter:
                self.options[letter] = name
                self.letters[name] = letter
        required = re.sub(r"\[[^]]*\]", "", self.usage)
        self.required = {self.options.get(option, option) for option in re.findall(r" --?([a-z][a-z-]*)", required)}

    def is_of(self, words):
        return re.match(re.escape("usage: " + " ".join(words)) + r"( |$)", self.usage) is not None


def flags(words):
    """The options after each Fl of a line."""
    found, on = [], False
    for word in words:
        if word == "Fl":
            on = True
        elif word[0].isupper() or word == "--":
            on = False
        elif on and re.fullmatch(r"-?[a-z0-9-]+", word) and word != "-":
            found.append(word.lstrip("-"))
    return found


def forms(page):
    """Each form: the words of its command, its options, those that are required, and whether it says "options"."""
    found, form, on = [], None, False
    for line in open(page, encoding="utf-8"):
        words = line.split()
        if line.startswith(".Sh"):
            on = words[1] == "SYNOPSIS"
        elif on and line.startswith(".Nm"):
            form = {"words": words[1:] or [re.sub(r".*/|\.\d$", "", page)], "options": [], "required": [], "all": False}
            found.append(form)
        elif on and line.startswith(".Cm"):
            if not form["options"]:
                form["words"].append(words[1])
            form["options"] += flags(words)
        elif on and line.startswith(".Op Ar options"):
            form["all"] = True
        elif on and line[:3] in (".Op", ".Fl"):
            form["options"] += flags(line[1:].split())
            if line.startswith(".Fl"):
                form["required"] += flags(line[1:].split())
    return found


def lists(page):
    """Each option of a page's lists: section in small letters, or none, its letters, and its long name."""
    section = ""
    for line in open(page, encoding="utf-8"):
        if line.startswith((".Sh", ".Ss")):
            section = line.split()[1] if re.match(r"\.Ss [a-z]+$", line) else ""
        item = re.match(r"\.It Fl (?:(\w) , )?-([a-z][a-z0-9-]*)", line)
        if item:
            yield section, item.group(1) or "", item.group(2)


def check_command(page, words, all_forms, help_of):
    bad = []
    name = " ".join(words)
    command = help_of(words)
    named = {command.options.get(option, option) for form in all_forms for option in form["options"]} - {"help", "h"}
    bad += [f"{name} has no option {option}" for option in sorted(named - set(command.options) - {"version"})]
    if not any(form["all"] for form in all_forms):
        missing = {option for option in command.options.values()} - named - {"help"}
        bad += [f"the synopsis of {name} lacks --{option}" for option in sorted(missing)]
    # a form may have an option in place of those of the first one
    each = [{command.options.get(option, option) for option in form["required"]} - {"help", "h", "version"} for form in all_forms]
    required = set().union(*each)
    if not each[0] <= command.required <= required:
        bad.append(f"{name} requires {sorted(command.required)}, its synopsis {sorted(required)}")
    return [f"{page}: {text}" for text in bad]


def check(page, help_of):
    """The forms of a page and its lists of options."""
    bad, commands = [], {}
    for form in forms(page):
        words = form["words"]
        while len(words) > 1 and not help_of(words).is_of(words):
            words = words[:-1]  # an operand
        commands.setdefault(tuple(words), []).append(form)
    for words, all_forms in commands.items():
        if len(words) > 1 or words[0] != "bustap":
            bad += check_command(page, list(words), all_forms, help_of)
    first = next(iter(commands))
    for section, letter, name in lists(page):
        words = [*first[:1 if page.endswith("/bustap.1") else 2], *([section] if section else [])]
        command = help_of(words)
        if name in command.options and letter != command.letters.get(name, ""):
            bad.append(f"{page}: {' '.join(words)} --{name} has the letter '{command.letters.get(name, '')}', not '{letter}'")
    return bad, {words[1] for words in commands if words[0] == "bustap" and len(words) > 1}


def main():
    known, bad = {}, []

    def help_of(words):
        key = tuple(words)
        if key not in known:
            known[key] = Help(words)
        return known[key]

    for number, page in enumerate(sys.argv[1:]):
        found, commands = check(page, help_of)
        bad += found
        if number == 0:
            listed = set(re.findall(r"^  ([a-z]+)  ", help_of(["bustap"]).text, re.M))
            bad += [f"{page}: the synopsis lacks the command {command}" for command in sorted(listed - commands)]
    print("\n".join(bad), end="\n" if bad else "")
    return len(bad) > 0


sys.exit(main())
