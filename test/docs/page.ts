/**
 * Reads the commands on a documentation page. Fenced blocks with these languages are run:
 *
 *   sh        commands; each of them must succeed
 *   console   commands after `$ `, each followed by its output. A command may fail if the page shows its output.
 *
 * In the output shown on a page, `...` on a line of its own matches any lines, and `…` matches any text within a line.
 * A comment directly above a block changes how it runs:
 *
 *   <!-- skip: needs root -->   does not run
 *   <!-- background -->         keeps running; the next block runs when the output that the page shows has appeared
 *   <!-- file: web.yaml -->     is written to a file; the block may have any language
 *   <!-- stop -->               a comment without a block: stops the program that was started last in the background
 *
 * A block inside a comment is not shown to readers, but runs. It prepares what the page does not explain.
 */

export type Block =
  | { readonly type: 'commands'; readonly line: number; readonly commands: readonly Command[] }
  | { readonly type: 'background'; readonly line: number; readonly command: Command }
  | { readonly type: 'file'; readonly line: number; readonly name: string; readonly text: string }
  | { readonly type: 'stop'; readonly line: number }
  | { readonly type: 'skipped'; readonly line: number; readonly reason: string }
  | { readonly type: 'text'; readonly line: number; readonly language: string }

export interface Command {
  readonly text: string
  /** The output that the page shows. Empty if the page shows no output. */
  readonly output: string
}

const block =
  /^(?:<!-- *(?<mark>[^\n]*?)(?: *-->)?\n)?(?<indent> *)```(?<language>\S*)\n(?<body>[\s\S]*?)^ *```$|^<!-- stop -->$/gm

export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(block)].map((match) => {
    const line = page.slice(0, match.index).split('\n').length
    if (match.groups?.body === undefined) return { type: 'stop', line }
    const { mark = '', indent = '', language = '', body } = match.groups
    const text = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const [, name, value = ''] = /^(\w+)(?:: (.*))?$/.exec(mark) ?? []
    if (name === 'skip') return { type: 'skipped', line, reason: value }
    if (name === 'file') return { type: 'file', line, name: value, text }
    if (language !== 'sh' && language !== 'console') return { type: 'text', line, language }
    const commands = language === 'console' ? consoleCommands(text) : shellCommands(text)
    if (name !== 'background') return { type: 'commands', line, commands }
    const [command, ...others] = commands
    if (command === undefined || command.output === '' || others.length > 0)
      throw new Error(
        `line ${line}: a block in the background needs one command and the output that shows that it is ready`,
      )
    return { type: 'background', line, command }
  })
}

function shellCommands(text: string): readonly Command[] {
  const lines = text.split('\n')
  const commands: Command[] = []
  for (let line = lines.shift(); line !== undefined; line = lines.shift())
    if (line.trim() !== '' && !line.startsWith('#')) commands.push({ text: completed(line, lines), output: '' })
  return commands
}

function consoleCommands(text: string): readonly Command[] {
  const lines = text.split('\n')
  const commands: Command[] = []
  while (lines.some((line) => line !== '')) {
    const first = lines.shift()!
    if (!first.startsWith('$ ')) throw new Error(`a console block must start with "$ ": ${first}`)
    const command = completed(first.slice(2), lines)
    const next = lines.findIndex((line) => line.startsWith('$ '))
    const output = lines.splice(0, next === -1 ? lines.length : next).join('\n')
    commands.push({ text: command, output: output.trimEnd() })
  }
  return commands
}

/** Removes the continuation lines of a command from the list. Returns the command together with these lines. */
function completed(first: string, lines: string[]): string {
  let command = first
  while (lines.length > 0 && isOpen(command)) command += `\n${lines.shift()}`
  return command
}

function isOpen(command: string): boolean {
  const [, word] = /<<-?\s*['"]?(\w+)['"]?/.exec(command) ?? []
  if (word !== undefined) return command.split('\n').indexOf(word) === -1
  const outsideQuotes = command.replaceAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '').replaceAll(/(^|\s)#.*/g, '')
  return (
    /\\$|['"]/.test(outsideQuotes) || command.endsWith('\\') || count(outsideQuotes, '(') > count(outsideQuotes, ')')
  )
}

function count(text: string, character: string): number {
  return text.split(character).length - 1
}
