/** Defines the flags for logging. */
import { flag, oneOf, UsageError } from '../../base/flags/flags.ts'
import { logFormats } from '../../base/telemetry/log.ts'

export const loggingFlags = {
  verbosity: flag({
    name: 'v',
    letter: 'v',
    value: 'N',
    default: '0',
    read: readVerbosity,
    help: 'log verbosity, from 0 to 99; from 1, the server logs added and retired workers, and from 3 every request',
  }),
  loggingFormat: flag({
    name: 'logging-format',
    value: 'FORMAT',
    default: 'text',
    read: oneOf(logFormats),
    help: `log format: ${logFormats.join(' or ')}`,
  }),
}

function readVerbosity(value: string): number {
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a log level: use 0 to 99`)
  return Number(value)
}
