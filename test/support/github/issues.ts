/** The issues of a repository. */

export interface Comment {
  id: number;
  body: string;
  login: string;
  at: string;
}

export interface Issue {
  id: number;
  number: number;
  title: string;
  body: string | null;
  state: "open" | "closed";
  stateReason: string | null;
  labels: string[];
  assignees: string[];
  login: string;
  comments: Comment[];
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
}

export interface IssueChange {
  title?: string;
  body?: string | null;
  state?: "open" | "closed";
  stateReason?: string | null;
  labels?: string[];
  assignees?: string[];
}

export class Issues {
  readonly all: Issue[] = [];
  #comments = 0;

  open(title: string, login: string, at: string, change: IssueChange = {}): Issue {
    const number = this.all.length + 1;
    const issue: Issue = {
      id: 90_000_000 + number,
      number,
      title,
      body: null,
      state: "open",
      stateReason: null,
      labels: [],
      assignees: [],
      login,
      comments: [],
      createdAt: at,
      updatedAt: at,
      closedAt: null,
      ...change,
    };
    this.all.push(issue);
    return issue;
  }

  find(number: number): Issue | undefined {
    return this.all.find((issue) => issue.number === number);
  }

  change(issue: Issue, change: IssueChange, at: string): void {
    const before = issue.state;
    Object.assign(issue, change, { updatedAt: at });
    if (issue.state === before) return;
    issue.closedAt = issue.state === "closed" ? at : null;
    issue.stateReason = change.stateReason ?? (issue.state === "closed" ? "completed" : "reopened");
  }

  comment(issue: Issue, body: string, login: string, at: string): Comment {
    this.#comments += 1;
    const comment = { id: 70_000_000 + this.#comments, body, login, at };
    issue.comments.push(comment);
    issue.updatedAt = at;
    return comment;
  }
}
