/**
 * A session at a shell as text: what is typed, and what comes of it, compared to the letter. A line's first two
 * characters say what it is:
 *
 *   # get shows tables            a heading; blank lines are for the eye
 *   + each kind of table          a heading whose steps are of the long form only: nothing below the next one needs them
 *   $ kubectl create -f -         a step: a line for the shell
 *   < kind: ConfigMap             its input, if any
 *   | configmap/a created         its output; `~ ` for a last line that does not end
 *   ! Error from server ...       its errors, likewise; `^ ` for a last line that does not end
 *   = 1                           its exit code where that is not 0
 *
 * White space at the end of a line does not count, as editors take it away.
 */

export interface Step extends Heading {
  readonly command: string
  readonly input: string
  readonly outcome: Outcome
}

interface Heading {
  readonly heading: string
  readonly isLong: boolean
}

export interface Outcome {
  readonly output: string
  readonly errors: string
  readonly code: number
}

type Part = 'input' | 'output' | 'errors'

const parts: { readonly [mark: string]: readonly [Part, string] } = {
  '<': ['input', '\n'],
  '|': ['output', '\n'],
  '~': ['output', ''],
  '!': ['errors', '\n'],
  '^': ['errors', ''],
}

export function parseTranscript(text: string): Step[] {
  const [preface, ...blocks] = text.split(/^\$ /m)
  let heading = headingIn(preface!) ?? { heading: '', isLong: false }
  return blocks.map((block) => {
    const step = parseStep(heading, block)
    heading = headingIn(block) ?? heading
    return step
  })
}

/** A heading belongs to the steps below it, not to the block that it ends. */
function headingIn(block: string): Heading | undefined {
  const line = block.match(/^[#+] .*/gm)?.at(-1)
  return line === undefined ? undefined : { heading: line.slice(2), isLong: line.startsWith('+') }
}

function parseStep(heading: Heading, block: string): Step {
  const [command, ...lines] = block.split('\n')
  const said: Record<Part, string> = { input: '', output: '', errors: '' }
  let code = 0
  for (const line of lines) {
    const part = parts[line[0] ?? '']
    if (part) said[part[0]] += line.slice(2) + part[1]
    else if (line.startsWith('= ')) code = Number(line.slice(2))
    else if (line !== '' && !/^[#+] /.test(line)) throw new Error(`a line without a mark: ${line}`)
  }
  return {
    ...heading,
    command: command!,
    input: said.input,
    outcome: { output: said.output, errors: said.errors, code },
  }
}

/** Formats the result as a transcript, in which differences are reported. */
export function writeOutcome({ output, errors, code }: Outcome): string {
  return [...marked(output, '|', '~'), ...marked(errors, '!', '^'), ...(code === 0 ? [] : [`= ${code}`])].join('\n')
}

function marked(text: string, whole: string, open: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop()!
  const mark = (sign: string, line: string) => `${sign} ${line}`.trimEnd()
  return [...lines.map((line) => mark(whole, line)), ...(last === '' ? [] : [mark(open, last)])]
}
