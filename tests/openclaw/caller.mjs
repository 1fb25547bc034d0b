// Calls methods of a running gateway for the tests, a line of JSON each way. One process for all calls: the host's own
// command line takes seconds to start, for every call again.
import { createInterface } from 'node:readline'

const { callGatewayFromCli } = await import(process.argv[2])

for await (const line of createInterface({ input: process.stdin })) {
  const { method, params, timeoutMs } = JSON.parse(line)
  const options = { json: true, timeout: String(timeoutMs) }
  let answer
  try {
    answer = { result: await callGatewayFromCli(method, options, params, { expectFinal: true, progress: false }) }
  } catch (error) {
    answer = { error: String(error?.message ?? error) }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
