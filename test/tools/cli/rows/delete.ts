/** Test rows for commands that delete objects and wait until they are deleted. */
import { map, type Part, r, web } from './row.ts'

const shut = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shut}\n'

export const deleting: Part = {
  name: 'deleting',
  given: [map('one'), map('p1', ', labels: {set: p}'), map('p2'), web, shut].join('---\n'),
  rows: [
    r('delete', 'cm one --dry-run=server', { stdout: 'configmap "one" deleted (server dry run)\n' }),
    r('delete', 'cm one', { stdout: 'configmap "one" deleted\n' }),
    r('delete', 'cm one', { stderr: 'Error from server (NotFound): configmaps "one" not found\n', code: 1 }),
    r('delete', 'cm one --ignore-not-found'),
    r('delete', 'cm', { stderr: /^error: resource\(s\) were provided, but no name was specified/, code: 1 }),
    r('delete', 'cm p2 --grace-period=0', { stdout: 'configmap "p2" deleted\n' }),
    r('delete', 'cm -l set=p -o name', { stdout: /^configmap\/p1\n$/ }),
    r('delete', '-f web.yaml', { files: { 'web.yaml': web }, stdout: 'deployment.apps "web" deleted\n' }),
    r('delete', 'ns shut', { stdout: 'namespace "shut" deleted\n' }),
    r('wait', 'ns/shut --for=delete', { stdout: 'namespace/shut condition met\n' }),
  ],
}
