/**
 * A shell session as text: commands and their results, compared literally. The first two characters of a line are its
 * type:
 *
 *   # get shows tables            a heading; blank lines are ignored
 *   + each kind of table          a heading of steps for the long form only; later headings do not depend on them
 *   $ kubectl create -f -         a step: a line for the shell
 *   < kind: ConfigMap             its input, if any
 *   | configmap/a created         its output; `~ ` for a last line without a newline
 *   ! Error from server ...       its errors; `^ ` for a last line without a newline
 *   = 1                           its exit code if it is not 0
 *
 * White space at the end of a line is ignored, because editors remove it.
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

/**
 * Returns the last heading in a block. This heading belongs to the steps after the block rather than to the block that
 * it ends.
 */
function headingIn(block: string): Heading | undefined {
  const line = block.match(/^[#+] .*/gm)?.at(-1)
  return line === undefined ? undefined : { heading: line.slice(2), isLong: line.startsWith('+') }
}

function parseStep(heading: Heading, block: string): Step {
  const [command, ...lines] = block.split('\n')
  const textByPart: Record<Part, string> = { input: '', output: '', errors: '' }
  let code = 0
  for (const line of lines) {
    const part = parts[line[0] ?? '']
    if (part) textByPart[part[0]] += line.slice(2) + part[1]
    else if (line.startsWith('= ')) code = Number(line.slice(2))
    else if (line !== '' && !/^[#+] /.test(line)) throw new Error(`a line without a mark: ${line}`)
  }
  return {
    ...heading,
    command: command!,
    input: textByPart.input,
    outcome: { output: textByPart.output, errors: textByPart.errors, code },
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
