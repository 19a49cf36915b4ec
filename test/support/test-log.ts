/**
 * The log of servers and loops that run inside a test process. Many tests make servers fail on purpose, so the test
 * runner prints the log of a file only if a test failed (`reporter.mjs`). Without the test runner, the log is written
 * to standard error.
 */
import { type Log, openLog } from '../../src/base/telemetry/log.ts'

const maxLines = 100
const lines: string[] = []

/** Returns a log that is printed only if a test of the file fails. */
export function openTestLog(): Log {
  return process.send === undefined ? openLog() : openLog({ write: keepLine })
}

function keepLine(line: string): void {
  lines.push(line)
  if (lines.length > maxLines) lines.shift()
}

/** Returns and clears the last lines that were logged since the previous call. */
export function takeLogLines(): string[] {
  return lines.splice(0)
}
