/** All parts. */
import { applying } from './applying.ts'
import { changing } from './changing.ts'
import { configuring } from './configuring.ts'
import { creating } from './creating.ts'
import { deleting } from './deleting.ts'
import { nodes } from './nodes.ts'
import { pods } from './pods.ts'
import { reading } from './reading.ts'
import { rolling } from './rolling.ts'
import type { Part } from './row.ts'

export const parts: readonly Part[] = [
  creating,
  applying,
  changing,
  rolling,
  nodes,
  pods,
  reading,
  configuring,
  deleting,
]
