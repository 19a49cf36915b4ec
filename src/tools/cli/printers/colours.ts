/**
 * Colours by meaning, for people at a terminal: green for what is well, yellow for what is on its way, red for what went
 * wrong. None where the output goes to a file or a program, with `NO_COLOR`, or on a terminal that has none. Where the
 * terminal has 256 colours, they are such as can be read on light and on dark ground.
 */
import type { Context } from '../program/command.ts'

export type Meaning = 'good' | 'waiting' | 'bad'

type Palette = { readonly [meaning in Meaning]: string }

/** Of every terminal, and of its theme: its yellow on white can hardly be read. */
const basic: Palette = { good: '32', waiting: '33', bad: '31' }
/** #008700, #af5f00 and #d70000: each has a contrast of about 4 to 5 with white and with black alike. */
const onAnyGround: Palette = { good: '38;5;28', waiting: '38;5;130', bad: '38;5;160' }

/** Puts a text into the colour of what it means. */
export type Painter = (text: string, meaning: Meaning | undefined) => string

/** How what is written to this stream is painted; undefined where it has no colours. */
export function painterFor(context: Pick<Context, 'terminal' | 'env'>, stream: 'out' | 'err'): Painter | undefined {
  if (!hasColours(context, stream)) return undefined
  const { TERM = '', COLORTERM = '' } = context.env
  const palette = COLORTERM !== '' || TERM.includes('256color') ? onAnyGround : basic
  return (text, meaning) =>
    meaning === undefined || text === '' ? text : `\u001b[${palette[meaning]}m${text}\u001b[0m`
}

/** Whether what is written to this stream may have colours. */
export function hasColours({ terminal, env }: Pick<Context, 'terminal' | 'env'>, stream: 'out' | 'err'): boolean {
  return terminal[stream] && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
}

const words: ReadonlyMap<string, Meaning> = new Map([
  ...[
    'Running',
    'Ready',
    'Active',
    'Bound',
    'Available',
    'True',
    'Established',
    'Succeeded',
    'Completed',
    'Complete',
  ].map((word) => [word, 'good'] as const),
  ...['Approved', 'Issued', 'Healthy', 'Released'].map((word) => [word, 'good'] as const),
  ...['Pending', 'ContainerCreating', 'PodInitializing', 'Terminating', 'Unknown', 'Progressing', 'Warning'].map(
    (word) => [word, 'waiting'] as const,
  ),
  ...['SchedulingDisabled', 'Suspended'].map((word) => [word, 'waiting'] as const),
  ...['Failed', 'Error', 'NotReady', 'False', 'Lost', 'Denied', 'Evicted', 'OOMKilled', 'Unhealthy'].map(
    (word) => [word, 'bad'] as const,
  ),
])

/** What a status means; undefined where nobody can tell. Several words are as bad as the worst of them. */
export function meaningOf(status: string): Meaning | undefined {
  const meanings = status
    .split(',')
    .map((word) => words.get(word) ?? (/BackOff$|^Err|Error$/.test(word) ? 'bad' : undefined))
  return (['bad', 'waiting', 'good'] as const).find((meaning) => meanings.includes(meaning))
}

const statusHeadings = new Set(['STATUS', 'PHASE', 'TYPE', 'CONDITION'])

/** What the cell of a table means, under its heading: a status, or how many of how many are ready. */
export function cellMeaning(heading: string, cell: string): Meaning | undefined {
  if (statusHeadings.has(heading)) return meaningOf(cell)
  const [, ready, all] = (heading === 'READY' && /^(\d+)\/(\d+)$/.exec(cell)) || []
  if (ready === undefined) return undefined
  return ready === all ? 'good' : 'waiting'
}

/** Conditions that are well when they are false. */
const unwelcome =
  /Pressure$|Unavailable$|^(?:Failed|Stalled|Terminating|NamesNotAccepted|ReplicaFailure)$|(?:Failure|Deprecated)$/

/** The text of `describe` with its statuses and conditions in colour. */
export function paintDescription(text: string, painted: Painter): string {
  let inConditions = false
  return text
    .split('\n')
    .map((line) => {
      if (/^\S/.test(line)) inConditions = line.startsWith('Conditions:')
      const [, head, status, rest] = /^(\s*(?:Status|Phase|State):\s+)(\S+)(.*)$/.exec(line) ?? []
      if (status !== undefined) return `${head}${painted(status, meaningOf(status))}${rest}`
      const [, before, type, gap, value, after] =
        (inConditions && /^(\s+)(\w+)(\s+)(True|False|Unknown)(.*)$/.exec(line)) || []
      if (value === undefined) return line
      const meaning = value === 'Unknown' ? 'waiting' : (value === 'True') === unwelcome.test(type!) ? 'bad' : 'good'
      return `${before}${type}${gap}${painted(value, meaning)}${after}`
    })
    .join('\n')
}
