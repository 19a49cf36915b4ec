/** Implements `orchctl set subject`, which adds users, groups and service accounts to an existing binding. */

import { sameJson } from '../../../../api/json/json.ts'
import { groupOf } from '../../../../api/model/api-version.ts'
import { type ApiObject, asJson, asObject } from '../../../../api/model/object.ts'
import { repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import { defineCommand } from '../../program/command.ts'
import { readSubjects } from '../create/binding.ts'
import { setFlags, setInObjects } from './pod-spec.ts'

export const setSubjectCommand = defineCommand({
  name: 'set subject',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE | TYPE -l SELECTOR | TYPE --all) [--user=...] [--group=...] [flags]'],
  about: 'Add users, groups and service accounts to a role binding or a cluster role binding.',
  examples: [
    'orchctl set subject rolebinding readers --user=alice --group=ops',
    'orchctl set subject clusterrolebinding admins --serviceaccount=shop:robot',
  ],
  flags: {
    user: repeated({ name: 'user', value: 'NAME', read: text, help: 'user to add' }),
    group: repeated({ name: 'group', value: 'NAME', read: text, help: 'group to add' }),
    serviceAccount: repeated({
      name: 'serviceaccount',
      value: 'NAMESPACE:NAME',
      read: text,
      help: 'service account to add, as NAMESPACE:NAME',
    }),
    ...setFlags,
  },
  run: async (context, { options, words }) => {
    const { user, group, serviceAccount } = options
    if (user.length + group.length + serviceAccount.length === 0)
      throw new UsageError('you must specify at least one value of user, group or serviceaccount')
    await setInObjects(
      context,
      { words, options },
      { set: () => (object) => withSubjects(object, options), done: 'subjects updated' },
    )
  },
})

function withSubjects(object: ApiObject, options: Parameters<typeof readSubjects>[0]): ApiObject {
  const group = groupOf(object.apiVersion)
  if (!/^(?:Cluster)?RoleBinding$/.test(object.kind) || !group.startsWith('rbac.'))
    throw new UsageError(
      `${object.kind}/${object.metadata.name} setting subjects is only supported for RoleBinding/ClusterRoleBinding`,
    )
  const { subjects = [] } = object as { subjects?: object[] }
  const added = readSubjects(options, group).filter((subject) => !subjects.some((other) => sameJson(other, subject)))
  return asObject(asJson({ ...object, subjects: [...subjects, ...added] }))
}
