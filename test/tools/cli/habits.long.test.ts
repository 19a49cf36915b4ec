/**
 * Tests behavior common to all orchctl commands: sources of objects, connections to the server, and interruptions.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { kubectl } from '../../support/kubectl.ts'
import { configOf, orchctl, startOrchctl } from '../../support/orchctl.ts'
import { runCommand } from '../../support/run-command.ts'
import { root, startServer } from '../../support/server.ts'

const server = await startServer({ after }, ['--profile=kubernetes'])
const { directory } = server
const pki = join(directory, 'data/pki')
const env = { KUBECONFIG: configOf(server) }
const run = (line: string, more: object = {}) => orchctl(line.split(' '), { env, directory, ...more })

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`

before(() => {
  mkdirSync(join(directory, 'tree/inner'), { recursive: true })
  writeFileSync(join(directory, 'tree/b.yaml'), map('tree-b'))
  writeFileSync(
    join(directory, 'tree/a.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tree-a' } }),
  )
  writeFileSync(join(directory, 'tree/notes.txt'), 'not an object')
  writeFileSync(join(directory, 'tree/inner/c.yml'), map('tree-c'))
})

test('orchctl reads the files of -f DIRECTORY in order, and -R includes subdirectories', async () => {
  assert.equal((await run('apply -f tree')).stdout, 'configmap/tree-a created\nconfigmap/tree-b created\n')
  const deep = await run('apply -R -f tree')
  assert.equal(deep.stdout, 'configmap/tree-a unchanged\nconfigmap/tree-b unchanged\nconfigmap/tree-c created\n')
  mkdirSync(join(directory, 'hollow'), { recursive: true })
  assert.match((await run('apply -f hollow')).stderr, /^error: error reading \[hollow\]: .*-R also reads/)
})

test('orchctl reads the file at -f URL, and reports an unreadable URL', async (t) => {
  const web = createServer((request, response) => {
    response.statusCode = request.url === '/cm.yaml' ? 200 : 404
    response.end(map('from-web'))
  }).listen(0, '127.0.0.1')
  t.after(() => web.close())
  await new Promise((resolve) => web.once('listening', resolve))
  const address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
  assert.equal((await run(`apply -f ${address}/cm.yaml`)).stdout, 'configmap/from-web created\n')
  const { stderr, code } = await run(`apply -f ${address}/other.yaml`)
  assert.equal(stderr, `error: unable to read URL "${address}/other.yaml", server reported 404 Not Found\n`)
  assert.equal(code, 1)
})

test('orchctl flags can specify the server and the user without a kubeconfig', async () => {
  const bare = { env: {}, home: '/nonexistent', directory }
  const at = `--server=${server.url} --certificate-authority=${pki}/ca.crt`
  const name = async (line: string) => await run(`${line} auth whoami`, bare)
  assert.match((await name(`${at} --token=alice-token`)).stdout, /^Username +alice$/m)
  assert.match(
    (await name(`${at} --client-certificate=${pki}/admin.crt --client-key=${pki}/admin.key`)).stdout,
    /^Groups +\[system:masters/m,
  )
  assert.match(
    (await name(`--server=${server.url} --insecure-skip-tls-verify --token=alice-token`)).stdout,
    /^Username +alice$/m,
  )
  assert.match(
    (await name(`--server=${server.url} --token=alice-token`)).stderr,
    /^error: cannot connect to https:.*: .*certificate/,
  )
  assert.match(
    (await name(`${at} --tls-server-name=elsewhere --token=alice-token`)).stderr,
    /cannot connect to .*: .*elsewhere/,
  )
  assert.equal(
    (await name(`${at} --token=wrong`)).stderr,
    'error: You must be logged in to the server (Unauthorized)\n',
  )
  assert.match(
    (await name(`${at} --client-certificate=${pki}/admin.crt`)).stderr,
    /client-certificate and client-key must be specified together/,
  )
  assert.match((await run('auth whoami', bare)).stderr, /^error: no kubeconfig found/)
})

test('an orchctl flag overrides the kubeconfig, and a token flag replaces other credentials', async () => {
  assert.match((await run('--token=alice-token auth whoami')).stdout, /^Username +alice$/m)
  assert.match(
    (await run('--as=bob --as-group=a --as-group=b auth whoami')).stdout,
    /^Groups +\[a b system:authenticated\]$/m,
  )
  assert.match((await run('--as-group=a auth whoami')).stderr, /as-groups is set without impersonating a user/)
})

test('orchctl --request-timeout limits the duration of a request, and -v prints requests', async () => {
  assert.match((await run('get ns --request-timeout=1ms')).stderr, /^error: GET \/\S+ timed out\n$/)
  const { stderr, code } = await run('get ns default -v 6 --token=admin-token')
  assert.equal(code, 0)
  assert.match(stderr, /^GET https:\/\/127\.0\.0\.1:\d+\/api\/v1\/namespaces\/default\S* 200 OK in \d+ milliseconds$/m)
  assert.doesNotMatch(stderr, /admin-token/)
})

test('orchctl prints a server warning only once', async () => {
  const budget = (name: string) =>
    `apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: ${name}}\nspec: {minAvailable: 1}\n`
  const { stderr, code } = await run('create -f -', { stdin: `${budget('one')}---\n${budget('two')}` })
  assert.match(stderr, /^Warning: policy\/v1beta1 PodDisruptionBudget is deprecated[^\n]*\n$/)
  assert.equal(code, 0)
})

test('orchctl decodes a server warning as UTF-8', async () => {
  const { stderr } = await run('create --validate=warn -f -', {
    stdin: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: umlaut}\nüber: 1\n`,
  })
  assert.match(stderr, /^Warning: unknown field "über"\n$/)
})

test('orchctl explain-admission continues if an object already exists or is rejected', async () => {
  const budget =
    'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: existing}\nspec: {minAvailable: 1}\n'
  assert.equal((await run('create -f -', { stdin: budget })).code, 0)
  const unknown = 'apiVersion: example.com/v1\nkind: Unknown\nmetadata: {name: unknown}\n'
  const invalid = map('Bad_Name')
  const stdin = [budget, unknown, invalid, map('explained')].join('---\n')
  const { stdout, stderr, code } = await run('explain-admission -f -', { stdin })
  const titles = stdout.split('\n').filter((line) => line.includes('would be'))
  assert.deepEqual(titles.slice(0, 1), ['poddisruptionbudget.policy/existing would be replaced'])
  assert.equal(titles.at(-1), 'configmap/explained would be created')
  assert.match(stderr, /no matches for kind "Unknown"/)
  assert.match(`${stdout}${stderr}`, /Bad_Name/)
  assert.equal(code, 1)
})

test('bulk writes of orchctl print results in order, report each failure and show progress only on a terminal', async () => {
  const names = Array.from({ length: 60 }, (_, i) => (i === 30 ? 'Bad' : `bulk-${i}`))
  const stdin = names.map(map).join('---\n')
  const ran = await run('apply -f -', { stdin, terminal: { out: false, err: true } })
  const good = names.filter((name) => name !== 'Bad')
  assert.equal(ran.stdout, good.map((name) => `configmap/${name} created\n`).join(''))
  assert.match(ran.stderr, /\r60 of 60 applied/)
  const expectedError =
    '\u001b[31mError from server (Invalid):\u001b[0m error when applying "STDIN": ConfigMap "Bad" is invalid'
  assert.ok(ran.stderr.includes(expectedError), ran.stderr)
  assert.equal(ran.code, 1)
  const again = await run('apply -f - -o name', {
    stdin: names
      .filter((name) => name !== 'Bad')
      .map(map)
      .join('---\n'),
  })
  assert.deepEqual([again.stdout, again.stderr], [good.map((name) => `configmap/${name}\n`).join(''), ''])
})

test('orchctl creates a namespace in a file before the objects in that namespace', async () => {
  const inside = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: fresh}\n`
  const stdin = `apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n---\n${inside('a')}---\n${inside('b')}`
  assert.equal(
    (await run('apply -f -', { stdin })).stdout,
    'namespace/fresh created\nconfigmap/a created\nconfigmap/b created\n',
  )
})

test('kubectl and orchctl can apply the same object alternately, and server-side apply takes over its fields', async () => {
  const config = (...keys: string[]) => `${map('shared')}data:\n${keys.map((key) => `  ${key}: "1"\n`).join('')}`
  const data = async () => JSON.parse((await run('get cm shared -o json')).stdout).data
  assert.match((await kubectl(server, ['apply', '-f', '-'], config('a', 'b', 'c'))).stdout, /created/)
  assert.equal((await run('apply -f -', { stdin: config('a', 'b', 'c') })).stdout, 'configmap/shared unchanged\n')
  assert.equal((await run('apply -f -', { stdin: config('a', 'b') })).stdout, 'configmap/shared configured\n')
  assert.match((await kubectl(server, ['apply', '-f', '-'], config('a', 'b'))).stdout, /unchanged/)
  assert.equal(
    (await run('apply --server-side -f -', { stdin: config('a') })).stdout,
    'configmap/shared serverside-applied\n',
  )
  assert.deepEqual(await data(), { a: '1' })
  // The server keeps the last-applied annotation up to date, so kubectl can manage the object again.
  const back = await kubectl(server, ['apply', '-f', '-'], config('a'))
  assert.match(back.stdout, /configured|unchanged/)
  assert.equal(back.stderr, '')
})

test('after an interrupt, bulk writes of orchctl print nothing more', async () => {
  const stdin = Array.from({ length: 300 }, (_, i) => map(`cut-${i}`)).join('---\n')
  const applying = startOrchctl(['apply', '-f', '-'], { env, stdin })
  await new Promise((resolve) => applying.output.once('data', resolve))
  applying.stop()
  const { code, stdout, stderr } = await applying.ended
  assert.deepEqual([code, stderr], [130, ''])
  assert.ok(stdout.split('\n').length < 300)
})

test('orchctl describe and orchctl diff never show Secret values', async () => {
  const secret = (value: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: safe}\nstringData: {key: ${value}}\n`
  await run('apply -f -', { stdin: secret('first-value') })
  const shown = [await run('describe secret safe'), await run('diff -f -', { stdin: secret('other-value') })]
  assert.match(shown[1]!.stdout, /^-\s+key: '?"?\*\*\* \(before\)/m)
  for (const { stdout } of shown)
    for (const value of ['first-value', 'other-value'])
      for (const form of [value, Buffer.from(value).toString('base64')]) assert.ok(!stdout.includes(form), stdout)
})

test('orchctl certificate approve and deny change the state of a certificate signing request', async () => {
  const { stdout: request } = await runCommand('openssl', [
    'req',
    '-new',
    ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    '-keyout',
    '/dev/null',
    '-subj',
    '/CN=me',
  ])
  const csr = (name: string) =>
    JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'example.com/own',
        usages: ['client auth'],
      },
    })
  for (const [name, verb, done] of [
    ['good', 'approve', 'approved'],
    ['bad', 'deny', 'denied'],
  ] as const) {
    await run('create -f -', { stdin: csr(name) })
    const ran = await run(`certificate ${verb} ${name}`)
    assert.deepEqual(ran, {
      code: 0,
      stdout: `certificatesigningrequest.certificates.k8s.io/${name} ${done}\n`,
      stderr: '',
    })
    const { stdout } = await run(`get csr ${name} -o jsonpath={.status.conditions[*].type}`)
    assert.equal(stdout, verb === 'approve' ? 'Approved' : 'Denied')
  }
})

test('a change to a kubeconfig is atomic and keeps the file private, and a rejected change leaves the file unchanged', async () => {
  const file = join(directory, 'mine.kubeconfig')
  const change = (line: string) => run(`config ${line} --kubeconfig=mine.kubeconfig`)
  await change('set-cluster c --server=https://127.0.0.1:1')
  chmodSync(file, 0o644)
  await change('set-context x --cluster=c')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.includes('.tmp')),
    [],
  )
  writeFileSync(file, 'clusters: [')
  assert.equal((await change('set-context y --cluster=c')).stderr, `error: ${file} is not valid YAML: see line 1\n`)
  assert.equal((await runCommand('cat', [file])).stdout, 'clusters: [')
})

test('bash completion of orchctl completes commands, flags, types and object names', async () => {
  const script = `
    PATH=${root}/bin:$PATH
    source <(orchctl completion bash)
    try() { COMP_WORDS=(orchctl "$@"); COMP_CWORD=$#; COMPREPLY=(); _orchctl; echo "$* -> \${COMPREPLY[*]}"; }
    compopt() { :; }
    try ap; try create secret t; try get cm from; try get cm/from-w; try get --sort; try -n defa; try get -o js; try completion x
  `
  const { stdout } = await runCommand('bash', ['-c', script], { env: { ...process.env, ...env } })
  const offered = new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/ -> ?/, '|').split('|') as [string, string]),
  )
  const words = (typed: string) => (offered.get(typed) ?? 'none').split(/\s+/).filter((word) => word !== '')
  assert.deepEqual(words('ap'), ['api-resources', 'api-versions', 'apply'])
  assert.deepEqual(words('create secret t'), ['tls'])
  assert.deepEqual(words('get cm from'), ['from-web'])
  assert.deepEqual(words('get cm/from-w'), ['cm/from-web'])
  assert.deepEqual(words('get --sort'), ['--sort-by='])
  assert.deepEqual(words('-n defa'), ['default'])
  assert.deepEqual(words('get -o js'), ['json', 'jsonpath='])
  assert.deepEqual(words('completion x'), [])
})

test('shell completion offers the candidates for each position', async () => {
  const offered = async (...words: string[]) => {
    const { stdout, stderr, code } = await orchctl(['__complete', ...words], { env, directory })
    assert.deepEqual([stderr, code], ['', 0])
    return stdout.split('\n').filter((word) => word !== '')
  }
  for (const [words, expected] of [
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['completion', 'bash', ''], []],
    [['config', 'use-context', ''], ['orch-kubernetes-admin@orch-kubernetes']],
    [['--context', ''], ['orch-kubernetes-admin@orch-kubernetes']],
    [['get', 'configmaps,endpointsl'], ['configmaps,endpointslices']],
    [['get', '-l', 'app=x', 'cm', 'from'], ['from-web']],
    [
      ['auth', 'can-i', 'delete'],
      ['delete', 'deletecollection'],
    ],
    [['auth', 'can-i', 'get', 'configm'], ['configmaps']],
    [['certificate', 'approve', 'g'], ['good']],
    [['apply', 'v'], ['view-last-applied']],
    [['create', 'cm', ''], []],
    [['version', ''], []],
    [['apply', '-f', 'tr'], [':files']],
    [['apply', '--filename=tre'], ['--filename=tree/']],
    [
      ['apply', '--filename=tree/'],
      ['--filename=tree/a.json', '--filename=tree/b.yaml', '--filename=tree/inner/', '--filename=tree/notes.txt'],
    ],
    [['apply', '--filename=nowhere/'], []],
    [
      ['delete', '--dry-run='],
      ['--dry-run=client', '--dry-run=none', '--dry-run=server'],
    ],
  ] as const)
    assert.deepEqual(await offered(...words), expected, words.join(' '))
})

test('watches of orchctl continue without a gap after a server restart', async () => {
  const objects = startOrchctl(['get', 'cm', '-w', '-o', 'name', '-l', 'watched'], { env })
  const events = startOrchctl(['events', '-w', '--for=cm/watched', '--no-headers'], { env })
  const client = server.client()
  const post = async (plural: string, body: object) =>
    assert.equal((await client.post(`/api/v1/namespaces/default/${plural}`, body)).status, 201)
  const involvedObject = { kind: 'ConfigMap', name: 'watched', namespace: 'default' }
  const create = async (name: string) => {
    await post('configmaps', { metadata: { name, labels: { watched: '1' } } })
    await post('events', { metadata: { name }, involvedObject, type: 'Normal', reason: 'Seen', message: name })
  }
  const seen = async (name: string) => {
    for (const watch of [objects, events])
      while (!watch.stdout().includes(name)) {
        const more = new Promise<undefined>((resolve) => watch.output.once('data', () => resolve(undefined)))
        assert.equal(await Promise.race([more, watch.ended]), undefined)
      }
  }
  // The first object may arrive in the list or as a change. In both cases, the watch is established afterwards.
  await create('before')
  await seen('before')
  await server.kill()
  await server.restart()
  await create('after')
  await seen('after')
  for (const [watch, rows] of [
    [objects, /^configmap\/before\nconfigmap\/after\n$/],
    [events, /^\S+ +Normal +Seen +ConfigMap\/watched +before\n\S+ +Normal +Seen +ConfigMap\/watched +after\n$/],
  ] as const) {
    watch.stop()
    const { code, stdout, stderr } = await watch.ended
    assert.match(stdout, rows)
    assert.match(stderr, /^orchctl: the watch was interrupted \(.*\); it resumes when the server is back\n$/)
    assert.equal(code, 130)
  }
})
