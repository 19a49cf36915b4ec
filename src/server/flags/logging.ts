/** Flags of the log. */
import { flag, oneOf, UsageError } from '../../base/flags/flags.ts'
import { logFormats } from '../../base/telemetry/log.ts'

export const loggingFlags = {
  verbosity: flag('v,v', 'N', '0', readVerbosity, 'log level; from 3 on every request is logged'),
  loggingFormat: flag('logging-format', 'FORMAT', 'text', oneOf(logFormats), `log format: ${logFormats.join(' or ')}`),
}

function readVerbosity(value: string): number {
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a level: use 0 to 99`)
  return Number(value)
}
