/**
 * Colors for terminals by meaning: green for success, yellow for progress, red for errors. Colors are omitted if the
 * output is a file or pipe, if `NO_COLOR` is set, or if the terminal does not support them. On a terminal with 256
 * colors, the shades are readable on light and dark backgrounds.
 */
import type { Context } from '../program/command.ts'

export type Meaning = 'good' | 'waiting' | 'bad'

type Palette = { readonly [meaning in Meaning]: string }

/** The basic colors. Their shades depend on the terminal's theme. Yellow is hard to read on a white background. */
const basic: Palette = { good: '32', waiting: '33', bad: '31' }
/** The shades #008700, #af5f00 and #d70000. Each has a contrast ratio of about 4 to 5 with both white and black. */
const onAnyGround: Palette = { good: '38;5;28', waiting: '38;5;130', bad: '38;5;160' }

/** Colors a text according to its meaning, for example green for success. */
export type Painter = (text: string, meaning: Meaning | undefined) => string

/** Returns the function that colors text on this stream, or undefined if the output on the stream is not colored. */
export function painterFor(context: Pick<Context, 'terminal' | 'env'>, stream: 'out' | 'err'): Painter | undefined {
  if (!hasColours(context, stream)) return undefined
  const { TERM = '', COLORTERM = '' } = context.env
  const palette = COLORTERM !== '' || TERM.includes('256color') ? onAnyGround : basic
  return (text, meaning) =>
    meaning === undefined || text === '' ? text : `\u001b[${palette[meaning]}m${text}\u001b[0m`
}

/** Whether to color output on this stream. */
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

/**
 * Returns the meaning of a status, or undefined if it is unknown. If the status consists of several words, the word
 * with the worst meaning counts.
 */
export function meaningOf(status: string): Meaning | undefined {
  const meanings = status
    .split(',')
    .map((word) => words.get(word) ?? (/BackOff$|^Err|Error$/.test(word) ? 'bad' : undefined))
  return (['bad', 'waiting', 'good'] as const).find((meaning) => meanings.includes(meaning))
}

const statusHeadings = new Set(['STATUS', 'PHASE', 'TYPE', 'CONDITION'])

/**
 * Returns the meaning of a table cell. The heading determines whether the cell contains a status or a ratio of ready
 * items.
 */
export function cellMeaning(heading: string, cell: string): Meaning | undefined {
  if (statusHeadings.has(heading)) return meaningOf(cell)
  const [, ready, all] = (heading === 'READY' && /^(\d+)\/(\d+)$/.exec(cell)) || []
  if (ready === undefined) return undefined
  return ready === all ? 'good' : 'waiting'
}

/** Conditions whose status is False on a healthy object. */
const unwelcome =
  /Pressure$|Unavailable$|^(?:Failed|Stalled|Terminating|NamesNotAccepted|ReplicaFailure)$|(?:Failure|Deprecated)$/

/** Colors the statuses and conditions in the text of `describe`. */
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
