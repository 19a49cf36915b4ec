/** Lists the `orchctl rollout` subcommands. */
import type { CommandEntry } from '../entry.ts'

export const rolloutCommands: readonly CommandEntry[] = [
  {
    name: 'status',
    summary: 'show the progress of a rollout, and wait for it to finish',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'history',
    summary: 'list the revisions of a workload',
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'undo',
    summary: 'roll back to an earlier revision',
    load: async () => (await import('./undo.ts')).undoCommand,
  },
  {
    name: 'pause',
    summary: 'pause the rollout of a deployment',
    load: async () => (await import('./pause-resume-restart.ts')).pauseCommand,
  },
  {
    name: 'resume',
    summary: 'resume a paused rollout',
    load: async () => (await import('./pause-resume-restart.ts')).resumeCommand,
  },
  {
    name: 'restart',
    summary: 'restart all pods of a workload',
    load: async () => (await import('./pause-resume-restart.ts')).restartCommand,
  },
]
