/**
 * The log: one line per event on standard error, as `key=value` pairs that people and programs can read.
 * Nothing that a client sent is logged without being quoted, and credentials are never handed to it.
 */
export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = { readonly [key: string]: string | number | boolean }

export function openLog(
  write: (line: string) => void = (line) => void process.stderr.write(line),
  now = () => Date.now(),
): Log {
  const line = (level: string, message: string, fields: LogFields = {}) => {
    const pairs = Object.entries(fields).map(
      ([key, value]) => ` ${key}=${typeof value === 'string' ? JSON.stringify(value) : value}`,
    )
    write(`${new Date(now()).toISOString()} ${level} ${message}${pairs.join('')}\n`)
  }
  return {
    info: (message, fields) => line('info', message, fields),
    warn: (message, fields) => line('warning', message, fields),
    error: (message, fields) => line('error', message, fields),
  }
}

/** An error as fields of a line: what it says, and where it came from. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) }
  return { error: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) }
}
