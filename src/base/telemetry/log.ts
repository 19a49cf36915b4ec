/**
 * The log: one line per event on standard error, as `key=value` pairs or as JSON, for people and programs.
 * Nothing that a client sent is logged without being quoted, and credentials are never handed to it.
 *
 * The level, which `-v` sets, decides how much is logged: at 0 what an operator must know, and each line of `detail`
 * from its own level on. At 3 every request and its answer are logged.
 */
import { isError } from '../text/errors.ts'
import { openStandardError } from './standard-error.ts'

/** Writes log lines. */
export interface Log {
  info(message: string, fields?: LogFields): void
  /** What works, but needs attention. */
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Logged from this level on. */
  detail(level: number, message: string, fields?: LogFields): void
  /** Whether lines of this level are logged: ask before gathering fields that cost something. */
  tells(level: number): boolean
}

/** What a log line says besides its message. */
export type LogFields = { readonly [key: string]: string | number | boolean }

/** The formats of log lines. */
export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

export interface LogOptions {
  readonly level?: number
  readonly format?: LogFormat
  readonly write?: (line: string) => void
  readonly now?: () => number
  /** In every line, after its own. */
  readonly fields?: LogFields
}

type Severity = 'info' | 'warning' | 'error'

interface Line {
  readonly time: string
  readonly severity: Severity
  readonly message: string
  readonly fields: LogFields
}

/** A log with the level and format of the flags; tests give their own writer and clock. */
export function openLog({
  level = 0,
  format = 'text',
  write = openStandardError(),
  now = Date.now,
  fields: common = {},
}: LogOptions = {}): Log {
  const encode = encoders[format]
  const line = (severity: Severity, message: string, fields: LogFields = {}) =>
    write(encode({ time: new Date(now()).toISOString(), severity, message, fields: { ...fields, ...common } }))
  const tells = (wanted: number) => wanted <= level
  return {
    info: (message, fields) => line('info', message, fields),
    warn: (message, fields) => line('warning', message, fields),
    error: (message, fields) => line('error', message, fields),
    detail: (wanted, message, fields) => {
      if (tells(wanted)) line('info', message, fields)
    },
    tells,
  }
}

const encoders: { readonly [F in LogFormat]: (line: Line) => string } = {
  text: ({ time, severity, message, fields }) => {
    const pairs = Object.entries(fields).map(
      ([key, value]) => ` ${key}=${typeof value === 'string' ? JSON.stringify(value) : value}`,
    )
    return `${time} ${severity} ${message}${pairs.join('')}\n`
  },
  json: ({ time, severity, message, fields }) =>
    `${JSON.stringify({ ts: time, level: severity, msg: message, ...fields })}\n`,
}

/** An error as fields of a line: what it says, and where it came from. */
export function errorFields(error: unknown): LogFields {
  if (!isError(error)) return { error: String(error) }
  return { error: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) }
}
