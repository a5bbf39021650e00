// Asks the server. A page without one has another file of this name, with a worker that answers.

// Sends a message of a session; without a body it is a question. Gives {status, text}; `signal` gives up waiting.
export async function request(path, session, body, signal) {
  const headers = { "X-Session": session ?? "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(path, { headers, method, body, signal });
  return { status: answer.status, text: await answer.text() };
}

// The server has its agents itself.
export function onAgent() {}
