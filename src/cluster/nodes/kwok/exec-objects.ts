/**
 * The environment of commands in simulated containers, as specified by Exec and ClusterExec objects. KWOK runs such
 * commands on its own machine. This program runs them in the simulated shell instead, because users must not run
 * programs on the server's machine.
 */
import type { Json } from '../../../api/json/json.ts'
import { array, fields, number, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import type { RuleType } from './pod-rules.ts'

/**
 * Settings for the commands that run in a container. If a setting is undefined, the container's own setting applies.
 */
export interface CommandSettings {
  readonly workDir: string | undefined
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  readonly user: number | undefined
  readonly group: number | undefined
}

const maxVariables = 256
const maxPathLength = 4096

/** Describes the `execs` field of Exec and ClusterExec objects, and parses its rules. */
export const execRules: RuleType<CommandSettings> = {
  list: 'execs',
  subjects: 'containers',
  fields: ['local'],
  read: ({ local }, where) => readLocal(local ?? {}, `${where}.local`),
}

function readLocal(value: Json, where: string): CommandSettings {
  const { workDir, envs, securityContext } = fields(value, where, ['workDir', 'envs', 'securityContext'])
  const { runAsUser, runAsGroup } = fields(securityContext ?? {}, `${where}.securityContext`, [
    'runAsUser',
    'runAsGroup',
  ])
  const variables = array(envs, `${where}.envs`).map((each, i) => readVariable(each, `${where}.envs[${i}]`))
  if (variables.length > maxVariables) throw new StageError(`${where}.envs has more than ${maxVariables} elements`)
  return {
    workDir: workDir === undefined ? undefined : readDirectory(workDir, `${where}.workDir`),
    variables,
    user: number(runAsUser, `${where}.securityContext.runAsUser`),
    group: number(runAsGroup, `${where}.securityContext.runAsGroup`),
  }
}

function readVariable(value: Json, where: string): CommandSettings['variables'][number] {
  const variable = fields(value, where, ['name', 'value'])
  const name = text(variable.name, `${where}.name`)
  if (name === '') throw new StageError(`${where}.name is empty`)
  return { name, value: variable.value === undefined ? '' : text(variable.value, `${where}.value`) }
}

function readDirectory(value: Json, where: string): string | undefined {
  const path = text(value, where)
  if (path.length > maxPathLength) throw new StageError(`${where} is longer than ${maxPathLength} characters`)
  return path === '' ? undefined : path
}
