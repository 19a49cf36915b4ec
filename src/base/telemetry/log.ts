/**
 * The program's log. Each event is one line on standard error, either as `key=value` pairs or as JSON. Data from
 * clients is always quoted, and credentials are never logged.
 *
 * The verbosity (`-v`) controls how much is logged. At 0, the log contains only lines that are important for operators.
 * Each `verbose` line has a minimum level. At 3, the server logs every request and its response.
 */
import { isError } from '../text/errors.ts'
import { openStandardError } from './standard-error.ts'

/** A log with levels and structured fields. */
export interface Log {
  info(message: string, fields?: LogFields): void
  /** Logs a problem that needs attention but does not stop the program from working. */
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Logs a line if the verbosity is at least `level`. */
  verbose(level: number, message: string, fields?: LogFields): void
  /** Whether lines of the given level are logged. Callers check the level before they compute expensive fields. */
  isEnabled(level: number): boolean
}

/** Structured data to add to a log line. */
export type LogFields = { readonly [key: string]: string | number | boolean }

/** Values of the `--logging-format` flag. */
export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

export interface LogOptions {
  readonly level?: number
  readonly format?: LogFormat
  readonly write?: (line: string) => void
  readonly now?: () => number
  /** Fields to add to every line. */
  readonly fields?: LogFields
}

type Severity = 'info' | 'warning' | 'error'

interface Line {
  readonly time: string
  readonly severity: Severity
  readonly message: string
  readonly fields: LogFields
}

/** Opens a log with the verbosity and format specified by the flags. Tests pass a writer and a clock. */
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
  const isEnabled = (lineLevel: number) => lineLevel <= level
  return {
    info: (message, fields) => line('info', message, fields),
    warn: (message, fields) => line('warning', message, fields),
    error: (message, fields) => line('error', message, fields),
    verbose: (lineLevel, message, fields) => {
      if (isEnabled(lineLevel)) line('info', message, fields)
    },
    isEnabled,
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

/** Returns the message and the stack of an error as log fields. */
export function errorFields(error: unknown): LogFields {
  if (!isError(error)) return { error: String(error) }
  return { error: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) }
}
