/** The flags of `orch up`: those of the API server, and those of the control loops and nodes that run beside it. */
import type { OptionsOf } from '../../base/flags/flags.ts'
import { syncFlags, upLoopFlags } from './loops.ts'
import { serverFlags } from './options.ts'
import { simulatedNodeFlags } from './simulated-nodes.ts'

/** What `orch up` takes in addition. */
export const upFlags = { ...upLoopFlags, ...simulatedNodeFlags }

/** What the further flags of `orch up` say. */
export type UpOptions = OptionsOf<typeof upFlags>

type AllFlags = Omit<typeof serverFlags, keyof typeof upFlags> & typeof upFlags

/** All that `orch up` takes. */
export const allUpFlags = { ...serverFlags, ...upFlags, ...syncFlags } as AllFlags

/** What only `orch up` takes; what both commands have, with another default, is not among it. */
export const upOnlyFlags = Object.fromEntries(
  Object.entries(allUpFlags).filter(([name]) => !Object.hasOwn(serverFlags, name)),
)
