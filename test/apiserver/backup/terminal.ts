/** Records the output of a command. */
import type { Terminal } from '../../../src/server/backup/progress-line.ts'

export interface Printed extends Terminal {
  readonly lines: string[]
  readonly warnings: string[]
}

export function recordingTerminal(): Printed {
  const lines: string[] = []
  const warnings: string[] = []
  return {
    lines,
    warnings,
    print: (line) => lines.push(line),
    warn: (line) => warnings.push(line),
    show: () => {},
    isInteractive: false,
  }
}
