/** Test rows for commands that write the kubeconfig. */
import { type Part, r } from './row.ts'

const own = '--kubeconfig=own.kubeconfig'

export const configuring: Part = {
  name: 'configuring',
  given: '',
  rows: [
    r('config set-cluster', `c --server=https://127.0.0.1:1 ${own}`, { stdout: 'Cluster "c" set.\n' }),
    r('config set-credentials', `u --token=secret ${own}`, { stdout: 'User "u" set.\n' }),
    r('config set-context', `one --cluster=c --user=u ${own}`, { stdout: 'Context "one" created.\n' }),
    r('config set-context', `two --cluster=c --user=u -n shop ${own}`, { stdout: 'Context "two" created.\n' }),
    r('config set-context', `one -n other ${own}`, { stdout: 'Context "one" modified.\n' }),
    r('config use-context', `three ${own}`, { stderr: 'error: no context exists with the name: "three"\n', code: 1 }),
    r('config use-context', `two ${own}`, { stdout: 'Switched to context "two".\n' }),
    r('config current-context', own, { stdout: 'two\n' }),
    r('config current-context', `--server=https://x --certificate-authority=ca --user=me --as=you -n n ${own}`, {
      stdout: 'two\n',
    }),
    r('config set-context', `one -n other --server=https://x --as=you ${own}`, {
      stdout: 'Context "one" modified.\n',
    }),
    r('config get-clusters', `--sever=https://x ${own}`, {
      stderr: /unknown flag --sever; did you mean --server\?/,
      code: 1,
    }),
    r('config get-contexts', own, {
      stdout:
        'CURRENT   NAME   CLUSTER   AUTHINFO   NAMESPACE\n          one    c         u          other\n*         two    c         u          shop\n',
    }),
    r('config get-contexts', `one --no-headers ${own}`, { stdout: '      one   c     u     other\n' }),
    r('config get-contexts', `nine ${own}`, { stderr: 'error: context nine not found\n', code: 1 }),
    r('config set-credentials', `plugin --exec-command=login ${own}`, {
      stderr: 'error: a credential plugin requires --exec-command and --exec-api-version\n',
      code: 1,
    }),
    r(
      'config set-credentials',
      `plugin --exec-command=login --exec-arg=a --exec-env=B=c --exec-api-version=v1 ${own}`,
      {
        stdout: 'User "plugin" set.\n',
      },
    ),
    r('config view', `'-o=jsonpath={.users[?(@.name=="plugin")].user.exec}' ${own}`, {
      stdout:
        '{"apiVersion":"v1","args":["a"],"command":"login","env":[{"name":"B","value":"c"}],"interactiveMode":"IfAvailable"}',
    }),
    r('config delete-user', `plugin ${own}`, { stdout: /^deleted user plugin from / }),
    r('config set-cluster', `behind --server=https://127.0.0.1:1 --proxy-url=http://127.0.0.1:3128 ${own}`, {
      stdout: 'Cluster "behind" set.\n',
    }),
    r('config set', `clusters.behind.certificate-authority-data AAA= ${own}`, {
      stdout: 'Property "clusters.behind.certificate-authority-data" set.\n',
    }),
    r('config set', `clusters.behind.certificate-authority-data "AA\nA=" ${own}`, {
      stdout: 'Property "clusters.behind.certificate-authority-data" set.\n',
    }),
    r('config set', `clusters.behind.certificate-authority-data AAA ${own}`, {
      stderr:
        'error: certificate-authority-data must be base64-encoded; set --set-raw-bytes to let orchctl encode the value\n',
      code: 1,
    }),
    r('config set', `clusters.behind.certificate-authority-data hi --set-raw-bytes ${own}`, {
      stdout: 'Property "clusters.behind.certificate-authority-data" set.\n',
    }),
    r('config view', `--raw '-o=jsonpath={.clusters[?(@.name=="behind")].cluster}' ${own}`, {
      stdout:
        '{"certificate-authority-data":"aGk=","proxy-url":"http://127.0.0.1:3128","server":"https://127.0.0.1:1"}',
    }),
    r('config delete-cluster', `behind ${own}`, { stdout: /^deleted cluster behind from / }),
    r('config set-context', `emptied --cluster=c --user=u --namespace=x ${own}`, { stdout: /created/ }),
    r('config set-context', `emptied --namespace= --user= ${own}`, { stdout: 'Context "emptied" modified.\n' }),
    r('config view', `${own} -o 'jsonpath={.contexts[?(@.name=="emptied")].context}'`, { stdout: '{"cluster":"c"}' }),
    r('config set-cluster', `emptied --server=https://x --tls-server-name=y --insecure-skip-tls-verify ${own}`, {
      stdout: 'Cluster "emptied" set.\n',
    }),
    r('config set-cluster', `emptied --tls-server-name= --insecure-skip-tls-verify=false ${own}`, {
      stdout: 'Cluster "emptied" set.\n',
    }),
    r('config view', `${own} -o 'jsonpath={.clusters[?(@.name=="emptied")].cluster}'`, {
      stdout: '{"server":"https://x"}',
    }),
    r('config delete-context', `emptied ${own}`, { stdout: /^deleted context emptied from / }),
    r('config delete-cluster', `emptied ${own}`, { stdout: /^deleted cluster emptied from / }),
    r('config set-cluster', `behind --proxy-url=nowhere ${own}`, {
      stderr: 'error: --proxy-url: "nowhere" is not a valid URL: use a URL such as http://127.0.0.1:3128\n',
      code: 1,
    }),
    r(
      'config set-credentials',
      `me --auth-provider=oidc --auth-provider-arg=client-id=a --auth-provider-arg=idp-issuer-url=https://x ${own}`,
      { stdout: 'User "me" set.\n' },
    ),
    r('config view', `--raw '-o=jsonpath={.users[?(@.name=="me")].user}' ${own}`, {
      stdout: '{"auth-provider":{"config":{"client-id":"a","idp-issuer-url":"https://x"},"name":"oidc"}}',
    }),
    r('config delete-user', `me ${own}`, { stdout: /^deleted user me from / }),
    r('config set-credentials', `me --auth-provider=gcp ${own}`, {
      stderr: 'error: --auth-provider: "gcp" is not one of oidc\n',
      code: 1,
    }),
    r('config view', `--flatten --raw ${own}`, { stdout: /token: secret/ }),
    r('config view', own, {
      stdout:
        'apiVersion: v1\nclusters:\n- cluster:\n    server: https://127.0.0.1:1\n  name: c\ncontexts:\n- context:\n    cluster: c\n    namespace: other\n    user: u\n  name: one\n- context:\n    cluster: c\n    namespace: shop\n    user: u\n  name: two\ncurrent-context: two\nkind: Config\npreferences: {}\nusers:\n- name: u\n  user:\n    token: REDACTED\n',
    }),
    r('config view', `-o jsonpath={.contexts[*].name} ${own}`, { stdout: 'one two' }),
    r('config get-clusters', own, { stdout: 'NAME\nc\n' }),
    r('config get-users', own, { stdout: 'NAME\nu\n' }),
    r('config set', `contexts.one.namespace third ${own}`, { stdout: 'Property "contexts.one.namespace" set.\n' }),
    r('config set', `clusters.c.color red ${own}`, {
      stderr: 'error: clusters.c.color is not a valid field: use clusters.NAME.FIELD\n',
      code: 1,
    }),
    r('config unset', `contexts.one.namespace ${own}`, { stdout: 'Property "contexts.one.namespace" unset.\n' }),
    r('config unset', `contexts.nine.namespace ${own}`, {
      stderr: 'error: no context "nine" in DIR/own.kubeconfig\n',
      code: 1,
    }),
    r('config view', `--minify --raw -o json ${own}`, { stdout: /"token": "secret"/ }),
    r('config view', `--minify --flatten --kubeconfig=sub/files.kubeconfig`, {
      files: {
        'sub/files.kubeconfig': JSON.stringify({
          clusters: [{ name: 'c', cluster: { server: 'https://x', 'certificate-authority': 'ca.crt' } }],
          users: [
            { name: 'v', user: { 'client-key': 'not-there' } },
            { name: 'u', user: { 'client-certificate': '../u.crt', 'client-key-data': 'a2V5', token: 't' } },
          ],
          contexts: [
            { name: 'b', context: { cluster: 'c', user: 'u' } },
            { name: 'a', context: { cluster: 'd' } },
          ],
          'current-context': 'b',
        }),
        'sub/ca.crt': 'ca',
        'u.crt': 'certificate',
      },
      stdout:
        'apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: Y2E=\n    server: https://x\n  name: c\ncontexts:\n- context:\n    cluster: c\n    user: u\n  name: b\ncurrent-context: b\nkind: Config\npreferences: {}\nusers:\n- name: u\n  user:\n    client-certificate-data: Y2VydGlmaWNhdGU=\n    client-key-data: a2V5\n    token: t\n',
    }),
    r('config view', '-o jsonpath={.contexts[*].name}{.users[*].name} --kubeconfig=sub/files.kubeconfig', {
      stdout: 'a bu v',
    }),
    r('config get-users', '--kubeconfig=sub/files.kubeconfig', { stdout: 'NAME\nu\nv\n' }),
    r('config view', '--minify --context=a --kubeconfig=sub/files.kubeconfig', {
      stderr: 'error: cannot locate cluster d\n',
      code: 1,
    }),
    r('config view', '--minify --context=x --kubeconfig=sub/files.kubeconfig', {
      stderr: 'error: cannot locate context x\n',
      code: 1,
    }),
    r('config rename-context', `two three ${own}`, { stdout: 'Context "two" renamed to "three".\n' }),
    r('config current-context', own, { stdout: 'three\n' }),
    r('config rename-context', `one three ${own}`, {
      stderr: `error: cannot rename the context "one", the context "three" already exists in DIR/own.kubeconfig\n`,
      code: 1,
    }),
    r('config delete-context', `three ${own}`, {
      stdout: 'deleted context three from DIR/own.kubeconfig\n',
      stderr: 'warning: this removed your active context, use "orchctl config use-context" to select a different one\n',
    }),
    r('config delete-context', `three ${own}`, {
      stderr: 'error: cannot delete context three, not in DIR/own.kubeconfig\n',
      code: 1,
    }),
    r('config delete-cluster', `c ${own}`, { stdout: 'deleted cluster c from DIR/own.kubeconfig\n' }),
    r('config delete-user', `u ${own}`, { stdout: 'deleted user u from DIR/own.kubeconfig\n' }),
    r('config get-users', own, { stdout: 'NAME\n' }),
  ],
}
