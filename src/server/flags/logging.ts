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
    help: 'log verbosity, from 0 to 99; at 1 and above, the server also logs added and retired workers, and at 3 and above, every request',
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
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a valid log level: use 0 to 99`)
  return Number(value)
}
