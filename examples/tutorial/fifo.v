// A FIFO with a monitor of lost writes.
module fifo #(parameter WIDTH = 8, parameter DEPTH = 4) (
    input clk, input reset,
    input push, input [WIDTH-1:0] in,
    input pop, output reg [WIDTH-1:0] out,
    output full, output empty
);
  reg [WIDTH-1:0] memory [0:(1<<DEPTH)-1];
  reg [DEPTH:0] first, last;
  assign empty = first == last;
  assign full = first[DEPTH-1:0] == last[DEPTH-1:0] && first[DEPTH] != last[DEPTH];
  always @(posedge clk) begin
    if (reset) begin
      first <= 0;
      last <= 0;
    end else begin
      if (push && !full) begin
        memory[last[DEPTH-1:0]] <= in;
        last <= last + 1;
      end
      if (pop && !empty) begin
        out <= memory[first[DEPTH-1:0]];
        first <= first + 1;
      end
    end
  end
endmodule

module monitor(input clk, input full, input push, output reg [15:0] lost);
  integer fill;
  initial begin
    lost = 0;
    fill = 0;
  end
  always @(posedge clk) begin
    if (full && push) begin
      lost <= lost + 1;
    end
    wait (!full);
    fill = fill + 1;
  end
endmodule

module top(input clk, input reset, input push, input pop, input [7:0] in,
           output [7:0] out, output [15:0] lost);
  wire full, empty;
  fifo #(.WIDTH(8), .DEPTH(4)) queue (
    .clk(clk), .reset(reset), .push(push), .in(in), .pop(pop), .out(out),
    .full(full), .empty(empty)
  );
  monitor watch(.clk(clk), .full(full), .push(push), .lost(lost));
endmodule
