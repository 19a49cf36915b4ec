/** Commands below `orchctl rollout`. */
import type { CommandEntry } from '../entry.ts'

export const rolloutCommands: readonly CommandEntry[] = [
  {
    name: 'status',
    summary: 'show how far a rollout is, and wait for its end',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'history',
    summary: 'show the revisions of a workload',
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'undo',
    summary: 'go back to an earlier revision',
    load: async () => (await import('./undo.ts')).undoCommand,
  },
  {
    name: 'pause',
    summary: 'hold up the rollout of a deployment',
    load: async () => (await import('./switching.ts')).pauseCommand,
  },
  {
    name: 'resume',
    summary: 'let a paused rollout go on',
    load: async () => (await import('./switching.ts')).resumeCommand,
  },
  {
    name: 'restart',
    summary: 'replace all pods of a workload',
    load: async () => (await import('./switching.ts')).restartCommand,
  },
]
