/**
 * `orchctl completion`: prints a shell completion script. The script calls `orchctl __complete` whenever the user
 * presses the tab key.
 */
import { UsageError } from '../../../../base/flags/flags.ts'
import { defineCommand } from '../../program/command.ts'

// If the output is the single line `:files` instead of candidates, the shell completes file names itself.

const bash = `# orchctl completion for bash: source <(orchctl completion bash)
_orchctl() {
  local IFS=$'\\n'
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(orchctl __complete "\${words[@]}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == :files ]]; then
    COMPREPLY=()
    compopt -o default
  elif [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=/,] ]]; then
    compopt -o nospace
  fi
}
COMP_WORDBREAKS=\${COMP_WORDBREAKS//[=:]/}
complete -F _orchctl orchctl
`

const zsh = `#compdef orchctl
# orchctl completion for zsh: source <(orchctl completion zsh)
_orchctl() {
  local -a found
  found=(\${(f)"$(orchctl __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ "\${found[*]}" == :files ]]; then
    _files
    return
  fi
  compadd -Q -S '' -- \${(M)found:#*[=/,]}
  compadd -Q -- \${found:#*[=/,]}
}
compdef _orchctl orchctl
`

const fish = `# orchctl completion for fish: orchctl completion fish | source
function __orchctl_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (orchctl __complete $words[2..-1] 2>/dev/null)
  if test "$found" = :files
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c orchctl -f -a '(__orchctl_complete)'
`

const scripts: ReadonlyMap<string, string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])

export const completionCommand = defineCommand({
  name: 'completion',
  forms: ['bash|zsh|fish'],
  about:
    'Print the shell completion script for commands, flags, types and object names. Object names come from the server.',
  examples: [
    'source <(orchctl completion bash)',
    'source <(orchctl completion zsh)',
    'orchctl completion fish | source',
  ],
  flags: {},
  run: async (context, { words }) => {
    const [shell = '', ...more] = words
    const script = scripts.get(shell)
    if (script === undefined || more.length > 0)
      throw new UsageError(
        `specify one shell: ${[...scripts.keys()].join(', ')}${shell === 'powershell' ? '; powershell is not supported' : ''}`,
      )
    context.out(script)
  },
})
