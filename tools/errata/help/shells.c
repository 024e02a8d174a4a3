/*
 * shells.c: see shells.h. The scripts run the program by the word that was typed, so that they also
 * work in a build folder and with an alias. If the program fails, nothing is offered.
 */
#include "tools/errata/help/shells.h"

#include <string.h>

/* Readline breaks words at `=`, `:` and `@`: the program gets the rest of the word ($2), and prints
 * the text that completes it. */
static const char bash[] = "# Completion of errata for bash, made by `errata completion bash`.\n"
                           "_errata() {\n"
                           "    local program=${BASH_ALIASES[$1]:-$1} word meaning\n"
                           "    COMPREPLY=()\n"
                           "    while IFS=$'\\t' read -r word meaning; do\n"
                           "        if [[ $word == :files* ]]; then\n"
                           "            local prefix=${word#:files} file\n"
                           "            prefix=${prefix# }\n"
                           "            compopt -o filenames 2>/dev/null\n"
                           "            while IFS= read -r file; do\n"
                           "                COMPREPLY+=(\"$prefix$file\")\n"
                           "            done < <(compgen -f -- \"${2#\"$prefix\"}\")\n"
                           "        else\n"
                           "            [[ $2 == [\\\"\\']* ]] || printf -v word %q \"$word\"\n"
                           "            COMPREPLY+=(\"$word\")\n"
                           "        fi\n"
                           "    done < <(${program/#\\~/$HOME} __complete bash -- \"$2\" "
                           "\"${COMP_LINE:0:COMP_POINT}\" 2>/dev/null)\n"
                           "}\n"
                           "complete -F _errata errata\n";

static const char zsh[] =
    "#compdef errata\n"
    "# Completion of errata for zsh, made by `errata completion zsh`.\n"
    "_errata() {\n"
    "    local -a program words_now lines values shown\n"
    "    local line word meaning\n"
    "    program=(${(z)${aliases[$words[1]]:-$words[1]}})\n"
    "    words_now=(\"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\")\n"
    "    lines=(\"${(@f)$(${~program} __complete zsh -- \"${(@)words_now}\" 2>/dev/null)}\")\n"
    "    for line in $lines; do\n"
    "        word=${line%%$'\\t'*}\n"
    "        meaning=${line#*$'\\t'}\n"
    "        if [[ $word == :files* ]]; then\n"
    "            word=${${word#:files}# }\n"
    "            [[ -n $word ]] && compset -P ${(b)word}\n"
    "            _files\n"
    "            return\n"
    "        fi\n"
    "        values+=($word)\n"
    "        shown+=(\"${word//:/\\\\:}:$meaning\")\n"
    "    done\n"
    "    (( $#values )) && _describe -V errata shown -M 'm:{a-zA-Z}={A-Za-z}'\n"
    "}\n"
    "if [[ $funcstack[1] == _errata ]]; then\n"
    "    _errata \"$@\"\n"
    "else\n"
    "    compdef _errata errata\n"
    "fi\n";

static const char fish[] =
    "# Completion of errata for fish, made by `errata completion fish`.\n"
    "function __errata_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] __complete fish -- $words[2..] 2>/dev/null)\n"
    "        if string match -q -- ':files*' $line\n"
    "            set -l prefix (string replace -r -- '^:files ?' '' $line)\n"
    "            set -l typed (string sub -s (math 1 + (string length -- \"$prefix\")) -- "
    "$words[-1])\n"
    "            printf '%s\\n' $prefix(__fish_complete_path $typed)\n"
    "        else\n"
    "            printf '%s\\n' $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c errata -f -a '(__errata_complete)'\n";

const struct shell shells[] = {
    {"bash",
     "For this shell: `source <(errata completion bash)`. For every one, put that line into "
     "~/.bashrc, or the script into ~/.local/share/bash-completion/completions/errata.",
     bash},
    {"zsh",
     "For this shell, once compinit has run: `source <(errata completion zsh)`. For every one, put "
     "the script into a folder of $fpath, as _errata.",
     zsh},
    {"fish",
     "For this shell: `errata completion fish | source`. For every one, put the script into "
     "~/.config/fish/completions/errata.fish.",
     fish},
    {NULL, NULL, NULL}};

const struct shell *shell_find(const char *name)
{
    for (const struct shell *shell = shells; shell->name != NULL; shell++) {
        if (strcmp(shell->name, name) == 0) {
            return shell;
        }
    }
    return NULL;
}
