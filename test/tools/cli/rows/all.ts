/** Collects the test rows of all parts. */
import { applying } from './apply.ts'
import { changing } from './change.ts'
import { configuring } from './config.ts'
import { creating } from './create.ts'
import { deleting } from './delete.ts'
import { nodes } from './nodes.ts'
import { pods } from './pods.ts'
import { policies } from './policy.ts'
import { reading } from './read.ts'
import { rolling } from './rollout.ts'
import type { Part } from './row.ts'

export const parts: readonly Part[] = [
  creating,
  applying,
  changing,
  rolling,
  nodes,
  pods,
  reading,
  policies,
  configuring,
  deleting,
]
