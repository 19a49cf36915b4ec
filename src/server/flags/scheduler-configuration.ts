/** Reads the `--scheduler-config` file, which contains a kube-scheduler configuration. */

import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import { readConfiguration } from '../../cluster/scheduler/configuration.ts'
import type { SchedulerSettings } from '../../cluster/scheduler/scheduler.ts'
import { readFlagFile } from './read-flag-file.ts'

const flagName = 'scheduler-config'
const maxBytes = 1024 * 1024

/** Reads the configuration. Returns undefined if the flag is not set. Throws UsageError for invalid content. */
export async function readSchedulerSettings(file: string): Promise<SchedulerSettings | undefined> {
  if (file === '') return undefined
  const text = readFlagFile(flagName, file)
  const { parseYaml } = await import('../../api/codec/yaml.ts')
  try {
    return readConfiguration(parseYaml(Buffer.from(text), maxBytes).value)
  } catch (error) {
    throw new UsageError(`--${flagName}: ${file}: ${messageOf(error)}`)
  }
}
