/**
 * Uses Node's own WebSocket as a client for exec or port-forward: `node websocket-client.mjs URL PROTOCOLS TOKEN
 * INPUTS`, with comma-separated protocols and with inputs as a JSON list. An empty token sends no header. After the
 * server's first message, sends each input as a message. Prints all messages and the end as lines of JSON.
 */
const [url, protocol, token, json] = process.argv.slice(2)
const inputs = JSON.parse(json)
const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
const socket = new WebSocket(url, { protocols: protocol === '' ? [] : protocol.split(','), headers })
socket.binaryType = 'arraybuffer'
const print = (fact) => console.log(JSON.stringify(fact))
socket.onopen = () => print({ open: socket.protocol })
socket.onerror = () => print({ error: true })
socket.onclose = ({ code }) => print({ close: code })
socket.onmessage = ({ data }) => {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1')
  print({ message: text })
  for (const input of inputs.splice(0)) socket.send(typeof data === 'string' ? input : Buffer.from(input, 'latin1'))
}
